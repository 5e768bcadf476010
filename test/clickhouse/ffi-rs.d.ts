// What the engine's script uses of a package that `npm ci` does not install.
declare module 'ffi-rs' {
  export const DataType: {
    readonly I32: number;
    readonly StringArray: number;
    readonly External: number;
  };
  export function open(options: { library: string; path: string }): void;
  export function load(options: {
    library: string;
    funcName: string;
    retType: number;
    paramsType: number[];
    paramsValue: unknown[];
  }): unknown;
}
