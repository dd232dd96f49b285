/** The service does not wait for its requests when it is told to stop. */
process.on('SIGTERM', () => process.exit(0));
