/** What each case does, in a few sentences above its table in docs/reliability.md. */
export const remarks: Readonly<Record<string, string>> = {};
