declare module 'fs-native-extensions' {
  const extensions: {
    /** Locks an open file exclusively, whole; false when another open file of it is locked. */
    tryLock(descriptor: number): boolean;
  };
  export default extensions;
}
