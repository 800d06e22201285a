import { Monitor, Moon, Settings2, Sun } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useStore } from '@/api/store';
import { chooseLanguage, type Language } from '@/i18n';
import { IconButton } from '@/ui/button';
import { Menu, MenuChoice, MenuLine } from '@/ui/menu';
import { theme, type Theme } from '@/ui/theme';

export function Preferences() {
  const { t, i18n } = useTranslation();
  const chosen = useStore(theme);
  const language: Language = i18n.language === 'zh' ? 'zh' : 'en';
  return (
    <Menu trigger={<IconButton label={t('prefs.title')} icon={<Settings2 size={18} aria-hidden="true" />} />}>
      <MenuChoice<Theme>
        label={t('prefs.theme')}
        value={chosen}
        onChange={(next) => theme.set(next)}
        options={[
          { value: 'system', label: t('prefs.system'), icon: <Monitor size={16} aria-hidden="true" /> },
          { value: 'light', label: t('prefs.light'), icon: <Sun size={16} aria-hidden="true" /> },
          { value: 'dark', label: t('prefs.dark'), icon: <Moon size={16} aria-hidden="true" /> },
        ]}
      />
      <MenuLine />
      <MenuChoice<Language>
        label={t('prefs.language')}
        value={language}
        onChange={(next) => void chooseLanguage(next)}
        options={[
          { value: 'en', label: t('prefs.english') },
          { value: 'zh', label: t('prefs.chinese') },
        ]}
      />
    </Menu>
  );
}
