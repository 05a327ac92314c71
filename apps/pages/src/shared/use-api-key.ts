/**
 * The API key of this tab, and what it opens. Every page that asks for a key uses the same one; it is sent only to this
 * service.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import { problemText } from './api.ts';

/** Deleted when the tab is closed. */
const STORED_AS = 'svc-dashboard-key';

export const keyOfTab = (): string | null => sessionStorage.getItem(STORED_AS);

/** Called once the service knows the key. */
export const keepKey = (key: string): void => sessionStorage.setItem(STORED_AS, key);

export const useApiKey = <T>() => {
  const [opened, setOpened] = useState<T | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [isOpening, setIsOpening] = useState(false);
  /** Gets the focus that was in the form. */
  const landing = useRef<HTMLHeadingElement & HTMLParagraphElement>(null);
  const wasInForm = useRef(false);
  useEffect(() => {
    if (opened !== null && wasInForm.current) landing.current?.focus();
  }, [opened]);

  const open = async (find: () => Promise<T>) => {
    setIsOpening(true);
    setProblem(null);
    try {
      const found = await find();
      wasInForm.current = document.activeElement?.closest('.key-form') != null;
      setOpened(found);
    } catch (error) {
      // Any other failure keeps the key, which may be valid after a reload.
      if (Object(error).status === 401) forget();
      setProblem(problemText(error));
    }
    setIsOpening(false);
  };
  /** Closes what is open; the key stays. */
  const close = () => setOpened(null);
  const forget = () => {
    sessionStorage.removeItem(STORED_AS);
    close();
  };
  return { opened, problem, isOpening, landing, open, close, forget };
};
