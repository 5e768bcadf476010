import { type Config, readConfig } from '../config/config.ts';

/** The settings, whose warnings go to stderr. Throws ConfigError. */
export function settingsOf(): Config {
  const { config, warnings } = readConfig(process.env);
  for (const warning of warnings) console.error(warning);
  return config;
}
