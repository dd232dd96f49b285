/** Control characters in names and texts of strangers, and how they are shown. */

/** What a terminal interprets, and what changes the order in which text is read (bidirectional controls). */
const controls = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;
const eachControl = new RegExp(controls, 'gu');
const eachButLayout = /(?![\n\t])[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

export function hasControls(text: string): boolean {
  return controls.test(text);
}

/** Each as `\u001b`: text that is one line, and shows what it hides. */
export function escapeControls(text: string): string {
  return text.replace(eachControl, toEscape);
}

/** Keeps line breaks and tabs. */
export function escapeLines(text: string): string {
  return text.replace(eachButLayout, toEscape);
}

function toEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
