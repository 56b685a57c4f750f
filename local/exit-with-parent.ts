// Preloaded (`node --import`) into a child process that has an IPC channel: the channel closes when the parent ends,
// however it ends, SIGKILL included, and the child must not outlive it.
process.once('disconnect', () => process.exit(1));
if (!process.connected) process.exit(1);
