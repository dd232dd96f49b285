/** Two measures, their reference and an index of them. */
export const indexParams = {
  priorSeconds: 20,
  reference: {
    pause_ratio: { median: 0.2, spread: 0.6, scale: 'odds', source: 'a study' },
    mean_run: { median: 2, spread: 0.3, scale: 'inverse', source: 'another' },
    pitch_level: { median: 0, spread: 3, scale: 'difference', source: 'a third' },
  },
} as const;

export const indexWeights = {
  pause_ratio: { direction: 'up', weight: 3, relativeOnly: false },
  mean_run: { direction: 'down', weight: 1, relativeOnly: false },
} as const;
