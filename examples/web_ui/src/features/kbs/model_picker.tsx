import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { credentialsQuery, modelsQuery } from '@/api/queries';
import { Banner } from '@/ui/banner';
import { Field, Input, Select } from '@/ui/field';
import { formatNumber } from '@/ui/format';
import { errorText } from '@/ui/message';
import { configOf, groupByCredential, isLocal, modelChoices } from './models';

export type ModelPick = ReturnType<typeof useModelPick>;

/** The models that fit, and which of them is chosen. */
export function useModelPick() {
  const { data: models, error } = useQuery(modelsQuery);
  const { data: credentials = [] } = useQuery(credentialsQuery);
  const [chosen, setChosen] = useState('');
  const [typedModel, setTypedModel] = useState('');
  const [typedDimension, setTypedDimension] = useState('');
  const choices = models ? modelChoices(models, credentials) : [];
  const choice = choices.find((item) => item.key === chosen) ?? choices[0];
  const dimension = Number(typedDimension) || choice?.defaultDimension || 0;
  const choose = (key: string) => {
    setChosen(key);
    setTypedDimension('');
  };
  return {
    models,
    error,
    choices,
    choice,
    choose,
    typedModel,
    setTypedModel,
    typedDimension,
    setTypedDimension,
    dimension,
    complete: choice !== undefined && (choice.model !== '' || typedModel.trim() !== ''),
    config: choice && configOf(choice, typedModel, dimension),
  };
}

interface ModelPickerProps {
  pick: ModelPick;
  /** What is wrong with the typed name. */
  error?: string;
  onTyped: () => void;
}

export function ModelPicker({ pick, error, onTyped }: ModelPickerProps) {
  const { t } = useTranslation();
  const { models, choices, choice, dimension } = pick;
  if (models && choices.length === 0)
    return (
      <Banner tone="warn">
        {models.policy.dimension
          ? t('create.noModelDimension', { dimension: formatNumber(models.policy.dimension) })
          : t('create.noModel')}
      </Banner>
    );
  if (pick.error && !models) return <Banner tone="bad">{errorText(pick.error)}</Banner>;
  if (!choice) return null;
  return (
    <>
      <div className="flex flex-col gap-3 sm:flex-row">
        <div className="min-w-0 flex-1">
          <Field label={t('create.model')} hint={isLocal(choice.credential) ? t('create.localHint') : t('create.modelHint')}>
            {(ids) => (
              <Select {...ids} value={choice.key} onChange={(event) => pick.choose(event.target.value)}>
                {groupByCredential(choices).map(([credential, group]) => (
                  <optgroup key={credential.id} label={isLocal(credential) ? t('create.localGroup') : credential.data.name || credential.data.type}>
                    {group.map((item) => (
                      <option key={item.key} value={item.key}>
                        {item.model ? item.label : t('create.otherModel')}
                      </option>
                    ))}
                  </optgroup>
                ))}
              </Select>
            )}
          </Field>
        </div>
        <div className="sm:w-36">
          <Field label={t('create.dimension')}>
            {(ids) =>
              choice.dimensions.length > 0 ? (
                <Select
                  {...ids}
                  value={dimension}
                  disabled={choice.dimensions.length === 1}
                  onChange={(event) => pick.setTypedDimension(event.target.value)}
                >
                  {choice.dimensions.map((value) => (
                    <option key={value} value={value}>
                      {formatNumber(value)}
                    </option>
                  ))}
                </Select>
              ) : (
                <Input
                  {...ids}
                  type="number"
                  min={1}
                  value={pick.typedDimension || String(choice.defaultDimension)}
                  onChange={(event) => pick.setTypedDimension(event.target.value)}
                />
              )
            }
          </Field>
        </div>
      </div>
      {!choice.model && (
        <Field label={t('create.modelName')} error={error}>
          {(ids) => (
            <Input
              {...ids}
              value={pick.typedModel}
              autoComplete="off"
              onChange={(event) => {
                pick.setTypedModel(event.target.value);
                onTyped();
              }}
            />
          )}
        </Field>
      )}
    </>
  );
}
