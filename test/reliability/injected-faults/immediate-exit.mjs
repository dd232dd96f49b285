/** SIGTERM exits without waiting for requests. */
process.on('SIGTERM', () => process.exit(0));
