import type { Source } from '../../ingest/index.ts';
import { tooLarge } from './body.ts';
import type { Holding } from './memory.ts';
import type { PushFiles, SeparateFile } from './spool.ts';
import { stamp } from './stamp.ts';

/** Bytes of lines that one body may become: three times the unpacked limit, as `/vector` writes the text of a line twice, and room. */
const MAX_LINES_BYTES = 128e6;
/** Beyond so many bytes the lines of a body go to a file of their own, as they are made. */
const SEPARATE_BYTES = 1024 * 1024;
const BLOCK_BYTES = 64 * 1024;

/** The lines of one body for one source. They become visible all at once, or not at all. */
export class PushedLines {
  private readonly source: Source;
  private readonly files: PushFiles;
  private readonly holding: Holding;
  private blocks: Buffer[] = [];
  private block = Buffer.alloc(0);
  private filled = 0;
  private bytes = 0;
  private written = 0;
  private file: SeparateFile | null = null;

  /** Writes bytes of lines, however lines are divided among calls. Throws `BODY_TOO_LARGE` for too many, and `PUSH_OVERLOADED`. */
  readonly write: (bytes: Buffer) => void;

  /** `pin`: the project of every line, whatever it says itself; null: lines say it themselves. */
  constructor(source: Source, files: PushFiles, holding: Holding, pin: string | null) {
    this.source = source;
    this.files = files;
    this.holding = holding;
    const add = (bytes: Buffer) => this.add(bytes);
    this.write = pin === null ? add : stamp(pin, add);
  }

  /** True when `spill` is due. */
  get isFull(): boolean {
    return this.bytes >= SEPARATE_BYTES;
  }

  /** Writes what is held to the body's own file. Throws `STORAGE_UNAVAILABLE`. */
  async spill(): Promise<void> {
    this.file ??= await this.files.openSeparate(this.source);
    const { file } = this;
    await this.flush((blocks) => file.append(blocks));
  }

  /** Resolves when all lines are on the disk, where the tailer finds them. Throws `STORAGE_UNAVAILABLE`. */
  async commit(): Promise<void> {
    if (this.file) {
      if (this.bytes > 0) await this.spill();
      await this.file.publish();
      this.file = null;
    } else if (this.bytes > 0) await this.flush((blocks) => this.files.append(this.source, blocks));
  }

  /** Removes what was written, unless it was committed. */
  async discard(): Promise<void> {
    await this.file?.discard();
  }

  private add(bytes: Buffer): void {
    if (this.written + this.bytes + bytes.length > MAX_LINES_BYTES)
      throw tooLarge(`${MAX_LINES_BYTES} bytes as the lines that it becomes`);
    for (let from = 0; from < bytes.length; ) {
      if (this.filled === this.block.length) this.addBlock(bytes.length);
      const copied = bytes.copy(this.block, this.filled, from);
      this.filled += copied;
      from += copied;
    }
    this.bytes += bytes.length;
  }

  private async flush(write: (blocks: readonly Buffer[]) => Promise<void>): Promise<void> {
    const { blocks, block, filled } = this;
    const held = blocks.reduce((sum, { length }) => sum + length, 0);
    await write([...blocks.slice(0, -1), block.subarray(0, filled)]);
    this.holding.remove(held);
    this.written += this.bytes;
    this.bytes = this.filled = 0;
    this.blocks = [];
    this.block = Buffer.alloc(0);
  }

  /** Most bodies are small, so the first block is, too. */
  private addBlock(wanted: number): void {
    const bytes =
      this.blocks.length === 0 && this.file === null ? Math.min(wanted, BLOCK_BYTES) : BLOCK_BYTES;
    this.holding.add(bytes);
    this.block = Buffer.allocUnsafeSlow(bytes);
    this.blocks.push(this.block);
    this.filled = 0;
  }
}
