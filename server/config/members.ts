import { withMembers } from '../store/index.ts';
import { type Config, ConfigError } from './config.ts';

/** The members that get columns. Throws ConfigError for further ones that cannot stand beside the others. */
export function membersOf({ columns }: Pick<Config, 'columns'>): ReturnType<typeof withMembers> {
  try {
    return withMembers(columns);
  } catch (error) {
    throw new ConfigError([(error as Error).message]);
  }
}
