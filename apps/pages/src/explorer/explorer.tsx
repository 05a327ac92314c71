/** The transparency log: the chain of days, and the way from one Receipt to the root of its day, recomputed here. */
import { useEffect, useState } from 'preact/hooks';
import { problemText } from '../shared/api.ts';
import { Shell } from '../shared/shell.tsx';
import { ownServiceDocument } from '../shared/verify-own-receipt.ts';
import { Chain } from './chain.tsx';
import { readService, type Service } from './check-day.ts';
import { LookUp } from './look-up.tsx';
import { usePlace } from './place.ts';
import { Restores } from './restores.tsx';
import './explorer.css';

export const Explorer = () => {
  const place = usePlace();
  const [service, setService] = useState<Service | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    ownServiceDocument().then(
      (text) => setService(readService(text)),
      (error) => setProblem(problemText(error)),
    );
  }, []);
  return (
    <Shell page="transparency">
      {problem !== null && (
        <p class="note note-bad" role="alert">
          {problem}
        </p>
      )}
      {service !== null && (
        <>
          <LookUp receiptId={place.receipt} service={service} />
          <Restores service={service} />
          <Chain openDay={place.day} service={service} />
        </>
      )}
    </Shell>
  );
};
