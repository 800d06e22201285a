import { useQuery, useQueryClient } from '@tanstack/react-query';
import { UserPlus, X } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { shares } from '@/api/calls';
import { sharesQuery } from '@/api/queries';
import type { Share } from '@/api/types';
import { Banner } from '@/ui/banner';
import { Button, IconButton } from '@/ui/button';
import { Field, Input, Select } from '@/ui/field';
import { formatTime } from '@/ui/format';
import { errorText } from '@/ui/message';

const permissions: Share['permission'][] = ['read', 'edit'];

/** Who else may use the knowledge base; only its owner sees this. */
export function SharingSection({ kbId, className }: { kbId: string; className: string }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const { data, error } = useQuery({ ...sharesQuery(kbId), retry: false });
  const [user, setUser] = useState('');
  const [permission, setPermission] = useState<Share['permission']>('read');
  const [nameError, setNameError] = useState('');
  const [problem, setProblem] = useState('');
  const [busy, setBusy] = useState(false);

  const act = async (what: () => Promise<unknown>): Promise<string> => {
    setProblem('');
    try {
      await what();
      return '';
    } catch (cause) {
      return errorText(cause);
    } finally {
      await cache.invalidateQueries({ queryKey: ['shares', kbId] });
    }
  };
  const add = async () => {
    const name = user.trim();
    if (!name) return setNameError(t('share.nameMissing'));
    setBusy(true);
    const failed = await act(() => shares.put(kbId, name, permission));
    setBusy(false);
    if (failed) setNameError(failed);
    else setUser('');
  };

  // A key that may not share, or a service that shares nothing.
  if (error && !data) return null;
  return (
    <section className={`${className} flex flex-col gap-4`} aria-labelledby="share-title">
      <div>
        <h2 id="share-title" className="font-semibold">
          {t('share.title')}
        </h2>
        <p className="mt-1 text-sm text-soft">{t('share.text')}</p>
      </div>
      {problem && (
        <Banner tone="bad" role="alert">
          {problem}
        </Banner>
      )}
      {data && data.length > 0 && (
        <ul className="flex flex-col divide-y divide-line rounded-lg border border-line">
          {data.map((share) => (
            <li key={share.user_id} className="flex flex-wrap items-center gap-x-3 gap-y-1.5 px-3 py-1.5">
              <span className="min-w-0 flex-1 basis-40 truncate text-sm" title={formatTime(share.created_at)}>
                {share.user_id}
              </span>
              <div className="w-40">
                <Select
                  aria-label={t('share.permissionOf', { user: share.user_id })}
                  value={share.permission}
                  onChange={(event) => {
                    const next = event.target.value as Share['permission'];
                    void act(() => shares.put(kbId, share.user_id, next)).then(setProblem);
                  }}
                >
                  {permissions.map((item) => (
                    <option key={item} value={item}>
                      {t(`share.may_${item}`)}
                    </option>
                  ))}
                </Select>
              </div>
              <IconButton
                label={t('share.remove', { user: share.user_id })}
                icon={<X size={16} aria-hidden="true" />}
                onClick={() => void act(() => shares.remove(kbId, share.user_id)).then(setProblem)}
              />
            </li>
          ))}
        </ul>
      )}
      <form
        noValidate
        className="flex flex-col gap-3 sm:flex-row sm:items-start"
        onSubmit={(event) => {
          event.preventDefault();
          void add();
        }}
      >
        <div className="min-w-0 flex-1">
          <Field label={t('share.user')} error={nameError}>
            {(ids) => (
              <Input
                {...ids}
                value={user}
                maxLength={256}
                autoComplete="off"
                onChange={(event) => {
                  setUser(event.target.value);
                  setNameError('');
                }}
              />
            )}
          </Field>
        </div>
        <div className="sm:w-40">
          <Field label={t('share.permission')}>
            {(ids) => (
              <Select {...ids} value={permission} onChange={(event) => setPermission(event.target.value as Share['permission'])}>
                {permissions.map((item) => (
                  <option key={item} value={item}>
                    {t(`share.may_${item}`)}
                  </option>
                ))}
              </Select>
            )}
          </Field>
        </div>
        <Button type="submit" busy={busy} className="sm:mt-6" icon={<UserPlus size={16} aria-hidden="true" />}>
          {t('share.add')}
        </Button>
      </form>
    </section>
  );
}
