import { LoaderCircle } from 'lucide-react';

export function Spinner({ size = 16 }: { size?: number }) {
  return <LoaderCircle aria-hidden="true" size={size} className="animate-spin" />;
}
