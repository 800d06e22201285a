import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';
import { recallText, remember } from './api/memory';
import en from './locales/en.json';

export type Language = 'en' | 'zh';

function firstLanguage(): Language {
  const chosen = recallText('local', 'language');
  if (chosen === 'en' || chosen === 'zh') return chosen;
  const wanted = typeof navigator === 'undefined' ? ['en'] : navigator.languages;
  return wanted[0]?.toLowerCase().startsWith('zh') ? 'zh' : 'en';
}

async function load(language: Language): Promise<void> {
  if (language === 'zh' && !i18next.hasResourceBundle('zh', 'translation'))
    i18next.addResourceBundle('zh', 'translation', (await import('./locales/zh.json')).default);
}

function markDocument(language: Language): void {
  document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en';
}

export async function startLanguage(): Promise<void> {
  const language = firstLanguage();
  await i18next.use(initReactI18next).init({
    resources: { en: { translation: en } },
    lng: 'en',
    fallbackLng: 'en',
    interpolation: { escapeValue: false },
    returnNull: false,
    showSupportNotice: false,
  } as Parameters<typeof i18next.init>[0]);
  await load(language);
  await i18next.changeLanguage(language);
  markDocument(language);
}

export async function chooseLanguage(language: Language): Promise<void> {
  remember('local', 'language', language);
  await load(language);
  await i18next.changeLanguage(language);
  markDocument(language);
}
