/** The words of a text, such as a command line. A value is one word, a list several. */
export const words = (
  texts: TemplateStringsArray,
  ...values: readonly (string | number | readonly string[])[]
): string[] =>
  texts.flatMap((text, at) => [
    ...text.split(/\s+/).filter((word) => word !== ''),
    ...(at < values.length ? [values[at]].flat().map(String) : []),
  ]);
