import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { LogIn } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { toApiError } from '@/api/errors';
import { identity, refused } from '@/api/identity';
import { identityQuery } from '@/api/queries';
import { loginProblem } from '@/api/returning';
import { signedIn } from '@/api/sign_in';
import { useStore } from '@/api/store';
import type { Provider } from '@/api/types';
import { Banner } from '@/ui/banner';
import { Button } from '@/ui/button';
import { Checkbox, Field, Input } from '@/ui/field';
import { errorText } from '@/ui/message';
import { Problem } from './problems';
import { useSwitch } from './use_switch';

/** Shown when the service does not know who calls; offers the ways in that the service has. */
export function SignIn() {
  const { t } = useTranslation();
  const { data: who, isError } = useQuery(identityQuery);
  const ended = useStore(refused) && identity.get().token !== null;
  const trouble = useStore(loginProblem);
  const ways = who?.ways ?? [];
  const provider = who?.oidc ?? null;
  const both = provider !== null && ways.includes('api_key');
  return (
    <Problem icon={<LogIn size={24} aria-hidden="true" />} title={t('user.signInTitle')}>
      <title>{t('user.signInTitle')}</title>
      <p>{provider && !both ? t('user.signInProviderText') : both ? t('user.signInBothText') : t('user.signInText')}</p>
      <div className="mt-5 flex flex-col gap-4 text-left text-ink">
        {trouble ? (
          <Banner tone="bad" role="alert">
            {t(`user.problem_${trouble}`)}
          </Banner>
        ) : (
          ended && (
            <Banner tone="warn" role="alert">
              {t('user.ended')}
            </Banner>
          )
        )}
        {provider && <ProviderButton provider={provider} />}
        {both && (
          <p className="flex items-center gap-3 text-xs text-soft before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
            {t('user.or')}
          </p>
        )}
        {(ways.includes('api_key') || (!provider && (who !== undefined || isError))) && <KeyForm primary={!provider} />}
      </div>
      <p className="mt-8 text-[0.8125rem]">
        <Link to="/operator" className="rounded text-soft underline hover:text-ink">
          {t('user.operates')}
        </Link>
      </p>
    </Problem>
  );
}

function ProviderButton({ provider }: { provider: Provider }) {
  const { t } = useTranslation();
  const [busy, setBusy] = useState(false);
  const leave = async () => {
    setBusy(true);
    loginProblem.set('');
    const oidc = await import('@/api/oidc');
    try {
      await oidc.leaveForProvider(provider, location.hash);
    } catch (cause) {
      loginProblem.set(cause instanceof oidc.LoginError ? cause.code : 'provider_away');
      setBusy(false);
    }
  };
  return (
    <Button variant="primary" className="w-full" busy={busy} icon={<LogIn size={16} aria-hidden="true" />} onClick={() => void leave()}>
      {t('user.signInWith', { host: new URL(provider.issuer).host })}
    </Button>
  );
}

function KeyForm({ primary }: { primary: boolean }) {
  const { t } = useTranslation();
  const [key, setKey] = useState('');
  const [keep, setKeep] = useState(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState('');
  const change = useSwitch();

  const submit = async () => {
    const token = key.trim();
    if (!token) return setProblem(t('user.keyMissing'));
    setBusy(true);
    setProblem('');
    loginProblem.set('');
    try {
      await change(await signedIn(token, 'api_key'), keep);
    } catch (cause) {
      const error = toApiError(cause);
      setProblem(error.status === 401 ? t('user.keyRefused') : errorText(error));
      setBusy(false);
    }
  };

  return (
    <form
      noValidate
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <Field label={t('user.apiKey')} error={problem}>
        {(ids) => (
          <Input
            {...ids}
            type="password"
            value={key}
            autoComplete="current-password"
            spellCheck={false}
            onChange={(event) => {
              setKey(event.target.value);
              setProblem('');
            }}
          />
        )}
      </Field>
      <label className="flex min-h-7 items-start gap-2.5 text-sm">
        <Checkbox checked={keep} className="mt-0.5" onChange={(event) => setKeep(event.target.checked)} />
        <span>
          {t('user.keep')}
          <span className="block text-[0.8125rem] text-soft">{t('user.keepHint')}</span>
        </span>
      </label>
      <Button type="submit" variant={primary ? 'primary' : 'secondary'} busy={busy}>
        {t('user.signIn')}
      </Button>
    </form>
  );
}
