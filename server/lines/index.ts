/**
 * The meaning of lines: which fact of an entry stands in which of their members, whatever a program calls it, and however its lines are written.
 * Nothing here does I/O, or knows of files and tables.
 */
export {
  createFieldTable,
  FIELDS,
  type FieldTable,
  type OwnFields,
  plainName,
  ROLES,
  type Role,
} from './fields.ts';
export { LINE_FORMATS } from './formats/index.ts';
export { pattern } from './formats/pattern.ts';
export { faultOf, isObjectLine, readJson } from './json.ts';
export type { Format, Member } from './line.ts';
export { membersOf, objectOf } from './members.ts';
export { type GradeRole, gradeNames, isOfSupabase } from './metadata-names.ts';
export { momentOf, momentText, regionOffset, type ZoneOffset } from './moments.ts';
export {
  createReader,
  membersBy,
  type ReaderOptions,
  readersOf,
  type SourceFormats,
} from './reader.ts';
export {
  BY_FOUR,
  BY_HUNDRED,
  BY_PRIORITY,
  BY_TEN,
  SEVERITY_WORDS,
  type Severity,
  severityOf,
} from './severity.ts';
export { UTC, zoneNamed } from './zones.ts';
