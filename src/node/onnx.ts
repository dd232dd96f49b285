/** One ONNX model on one thread: the only file that uses tensors. */
import { readFileSync } from 'node:fs';
import type * as OnnxRuntime from 'onnxruntime-node';
import type { Session, Tensor } from '../engine/index.ts';
import { loadNative, onnxRuntimePackage } from './native.ts';
import { checkGraph } from './onnx-operators.ts';
import { setEnvironmentVariable } from './process.ts';

const {
  InferenceSession,
  Tensor: OnnxTensor,
  env,
} = loadNative<typeof OnnxRuntime>('ONNX Runtime', [onnxRuntimePackage, 'onnxruntime-node']);

// onnxruntime-node sends telemetry, and keeps an identifier in ~/.cache, unless this is set before the first session.
setEnvironmentVariable('ORT_DISABLE_TELEMETRY', '1');

/** ONNX Runtime reads external data from the working folder unless configured: no file can be below this path. */
const noFolder = '/dev/null';

/**
 * Without VNNI, int8 products saturate unless computed at higher precision. With VNNI they are exact and twice as fast.
 */
export const multipliesExactly = /\bavx(512)?_vnni\b/.test(processorFlags());

/**
 * Weights from here on have no arena. It keeps the memory of the longest run, for a model of 400 MB as much again; small models
 * are a tenth faster with it.
 */
const largeBytes = 2 ** 26;

/** Version of ONNX Runtime. */
export const runtimeVersion = env.versions.node ?? env.versions.common;

/** Empty on systems without /proc/cpuinfo. */
function processorFlags(): string {
  try {
    return readFileSync('/proc/cpuinfo', 'utf8');
  } catch {
    return '';
  }
}

/**
 * `run` blocks its thread. The outputs have the same bits with every number of threads.
 * @param weights a self-contained ONNX file: external data is refused
 * @param threads that compute one run: the calling one, and others that sleep between runs
 * @throws Error for operators of other makers' files that are not allowed
 */
export async function openSession(weights: Uint8Array, threads = 1): Promise<Session> {
  checkGraph(weights);
  const session = await InferenceSession.create(weights, {
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    // Memory patterns are cached per input length and never freed.
    enableMemPattern: false,
    enableCpuMemArena: weights.byteLength < largeBytes,
    graphOptimizationLevel: 'all',
    // Its messages have names of the file as they are, and the errors come as exceptions.
    logSeverityLevel: 4,
    extra: {
      session: {
        load_model_format: 'ONNX',
        // Threads wait actively between the operators of a run, and sleep after it.
        force_spinning_stop: '1',
        x64quantprecision: multipliesExactly ? '0' : '1',
        model_external_initializers_file_folder_path: noFolder,
      },
    },
  });
  return {
    inputs: session.inputNames,
    outputs: session.outputNames,
    widths: Object.fromEntries([...session.inputMetadata, ...session.outputMetadata].map(widthOf)),
    run: async (inputs) => fromTensors(await session.run(toTensors(inputs))),
  };
}

function widthOf(value: OnnxRuntime.InferenceSession.ValueMetadata): [string, number | string] {
  return [value.name, (value.isTensor && value.shape.at(-1)) || ''];
}

function toTensors(inputs: Readonly<Record<string, Tensor>>): Record<string, OnnxRuntime.Tensor> {
  const feeds: Record<string, OnnxRuntime.Tensor> = {};
  for (const [name, { data, shape }] of Object.entries(inputs)) {
    feeds[name] = new OnnxTensor(data, shape);
  }
  return feeds;
}

function fromTensors(tensors: OnnxRuntime.InferenceSession.OnnxValueMapType): Record<string, Tensor> {
  const values: Record<string, Tensor> = {};
  for (const [name, { data, dims, type }] of Object.entries(tensors)) {
    if (!(data instanceof Float32Array || data instanceof Uint8Array) || type === 'bool') {
      throw new Error(`Expected float32 or uint8 for output \`${name}\`, got ${type}`);
    }
    values[name] = { data, shape: dims };
  }
  return values;
}
