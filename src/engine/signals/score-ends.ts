/** What the lowest and the highest value of each score mean, on the page and in the text of the command. */
export const scoreEnds = {
  valence: ['negative', 'positive'],
  arousal: ['calm', 'excited'],
  cognitive_load: ['little effort', 'great effort'],
  processing: ['laboured', 'fluent'],
  clarity: ['hard to follow', 'clear'],
} as const;
