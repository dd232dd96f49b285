/** How long a password is, in UTF-16 units. */
export const passwordLength = { least: 10, most: 128 } as const;
