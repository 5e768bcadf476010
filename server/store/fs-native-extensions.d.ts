declare module 'fs-native-extensions' {
  const extensions: {
    /** Locks an open file, whole: exclusively, or with others that share it. False when another open file of it is locked. */
    tryLock(descriptor: number, options?: { readonly shared?: boolean }): boolean;
  };
  export default extensions;
}
