/** A line as a container runtime of Kubernetes writes it: `2026-11-20T10:00:00.1Z stdout F text`. */
import { type Format, textMember } from '../line.ts';

/** The moment, the stream, tags of which the first says whether the text goes on in the next line, and the text. */
const CRI =
  /^(?<time>\d{4}-\d\d-\d\dT\S{6,64}) (?<stream>stdout|stderr) (?<tag>[FP])(?::(?<tags>\S{0,1000}))?(?: (?<log>.*))?$/s;

/** The members are those of the object that Docker writes of the same: `time`, `stream` and `log`. */
export const cri: Format = {
  name: 'cri',
  parse(line) {
    const found = line[10] === 'T' ? CRI.exec(line)?.groups : undefined;
    if (!found) return null;
    const { time = '', stream = '', tag, tags, log = '' } = found;
    return [
      textMember('time', time),
      textMember('stream', stream),
      ...(tag === 'P' ? [{ name: 'partial', json: 'true' }] : []),
      ...(tags ? [textMember('tags', tags)] : []),
      textMember('log', log),
    ];
  },
};
