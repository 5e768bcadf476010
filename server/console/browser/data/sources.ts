import { BUILT_IN_SOURCES, type Source } from '../../../../ingest/source.ts';
import { useAnswer } from './loading.ts';

/** A source as `/api/sources` names it. */
interface ListedSource {
  readonly token: Source;
}

/** The sources of the service, and `own`; until it has answered those that every service has. */
export function useSources(own: readonly Source[]): readonly Source[] {
  const { answer } = useAnswer<ListedSource[]>('/api/sources');
  const sources = answer?.result.map(({ token }) => token) ?? BUILT_IN_SOURCES;
  return [...new Set([...sources, ...own])];
}
