/** ONNX graph of one node, the mean of the features over time; written by benchmarks/peers/stack.py. */
export const graphFile = '.cache/peers/mean.onnx';
