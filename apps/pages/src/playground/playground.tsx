/** The playground: an Agent's purchase, requested honestly or not, and the result of each of the 24 checks. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { callApi, problemText } from '../shared/api.ts';
import { rememberPlayed } from '../shared/played.ts';
import { Shell } from '../shared/shell.tsx';
import type { DemoInfo } from '../shared/wire.ts';
import { Controls } from './controls.tsx';
import { Outcome } from './outcome.tsx';
import { play, type Run, type ScenarioId } from './scenarios.ts';
import './playground.css';

const DEFAULT_AMOUNT_MINOR = 42_700;

type StoryView = typeof import('./story-view.tsx').Story;

export const Playground = () => {
  const [info, setInfo] = useState<DemoInfo | null>(null);
  /** True until `demo/info` is answered or has failed. After a failure the next press asks for it again. */
  const [isStarting, setIsStarting] = useState(true);
  const [amount, setAmount] = useState(DEFAULT_AMOUNT_MINOR);
  const [run, setRun] = useState<Run | null>(null);
  const [playing, setPlaying] = useState<ScenarioId | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [Story, setStory] = useState<StoryView | null>(null);
  const outcome = useRef<HTMLDivElement>(null);
  const alert = useRef<HTMLParagraphElement>(null);
  // Scrolls the message into view: on a phone it is a screen away from the button that was pressed.
  useEffect(() => {
    if (problem !== null) alert.current?.scrollIntoView({ block: 'nearest' });
  }, [problem]);
  // Loaded after the page, since it stands below everything else.
  useEffect(() => {
    import('./story-view.tsx').then(
      ({ Story }) => setStory(() => Story),
      (error) => setProblem(problemText(error)),
    );
  }, []);
  const findInfo = async () => {
    if (info !== null) return info;
    setProblem(null);
    const { body } = await callApi<DemoInfo>('demo/info');
    setInfo(body);
    return body;
  };
  useEffect(() => {
    findInfo()
      .catch((error) => setProblem(problemText(error)))
      .finally(() => setIsStarting(false));
  }, []);

  const start = async (scenario: ScenarioId) => {
    setPlaying(scenario);
    setProblem(null);
    try {
      const played = await play(scenario, amount, await findInfo());
      rememberPlayed({ receipt: played.receipt, action: played.request.action });
      setRun(played);
      outcome.current?.scrollIntoView({ block: 'nearest' });
    } catch (error) {
      setProblem(problemText(error));
    }
    setPlaying(null);
  };

  return (
    <Shell page="playground">
      <Controls
        info={info}
        amount={amount}
        onAmount={setAmount}
        playing={playing}
        onPlay={isStarting ? null : start}
      />
      {problem !== null && (
        <p ref={alert} class="note note-bad" role="alert">
          {problem}
        </p>
      )}
      <div ref={outcome} class="outcome">
        <Outcome run={run} isAsking={playing !== null} />
      </div>
      {Story !== null && <Story info={info} findInfo={isStarting ? null : findInfo} />}
    </Shell>
  );
};
