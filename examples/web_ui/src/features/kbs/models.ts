import type { Credential, EmbeddingModelConfig, EmbeddingModels } from '@/api/types';

export interface ModelChoice {
  /** Stable within the picker. */
  key: string;
  credential: Credential;
  /** Empty: the name is typed by hand. */
  model: string;
  label: string;
  dimensions: number[];
  defaultDimension: number;
}

export const localType = 'local_credential';

export function isLocal(credential: Credential): boolean {
  return credential.data.type === localType;
}

/** Credentials that point at a server of the user's own can serve models nobody has listed. */
export function takesAnyModel(credential: Credential): boolean {
  return Boolean(credential.data.base_url ?? credential.data.host ?? credential.data.api_host) && !isLocal(credential);
}

export function modelChoices(models: EmbeddingModels, credentials: Credential[]): ModelChoice[] {
  const choices: ModelChoice[] = [];
  const order = [...models.providers].sort((a, b) => Number(isLocal(b.credential)) - Number(isLocal(a.credential)));
  for (const { credential, models: cards } of order)
    for (const card of cards)
      choices.push({
        key: `${credential.id}/${card.name}`,
        credential,
        model: card.name,
        label: card.label || card.name,
        dimensions: card.supported_dimensions?.length ? card.supported_dimensions : [card.dimensions],
        defaultDimension: card.dimensions,
      });
  const seen = new Map(credentials.map((credential) => [credential.id, credential]));
  for (const { credential } of models.providers) seen.set(credential.id, credential);
  for (const credential of seen.values())
    if (takesAnyModel(credential))
      choices.push({
        key: `${credential.id}/`,
        credential,
        model: '',
        label: '',
        dimensions: models.policy.dimension ? [models.policy.dimension] : [],
        defaultDimension: models.policy.dimension ?? 1024,
      });
  return choices;
}

export function groupByCredential(choices: ModelChoice[]): [Credential, ModelChoice[]][] {
  const groups = new Map<string, [Credential, ModelChoice[]]>();
  for (const choice of choices) {
    const group = groups.get(choice.credential.id) ?? [choice.credential, []];
    group[1].push(choice);
    groups.set(choice.credential.id, group);
  }
  return [...groups.values()];
}

export function configOf(choice: ModelChoice, typedModel: string, dimensions: number): EmbeddingModelConfig {
  return {
    type: choice.credential.data.type,
    credential_id: choice.credential.id,
    model: choice.model || typedModel.trim(),
    dimensions,
    parameters: {},
  };
}
