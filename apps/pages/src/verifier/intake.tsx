/** Takes a Receipt that is dropped, chosen or pasted. */

import { useEffect, useState } from 'preact/hooks';
import { Problem } from '../shared/problem.tsx';
import { MAX_BUNDLE_BYTES } from './presented.ts';

export interface IntakeProps {
  readonly text: string;
  /** Called with text that is typed or pasted into the box. */
  readonly onText: (text: string) => void;
  /** Called with the text of a file; returns why it is not accepted, or null. */
  readonly onGiven: (text: string) => string | null;
  readonly onExample: () => void;
}

export const Intake = ({ text, onText, onGiven, onExample }: IntakeProps) => {
  const [isOver, setIsOver] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const takeFiles = async (files: FileList | null | undefined) => {
    setProblem(null);
    for (const file of files ?? []) {
      const text = await readFile(file);
      const fault =
        text === null
          ? `${file.name} is no file, or larger than ${MAX_BUNDLE_BYTES / 1_048_576} MB.`
          : onGiven(text);
      if (fault !== null) setProblem(fault);
    }
  };
  const clear = () => {
    setProblem(null);
    onText('');
  };
  useEffect(() => {
    // Accepted anywhere on the page: the browser would otherwise open a file dropped beside the box in place of the
    // page.
    const onDragOver = (event: DragEvent) => {
      event.preventDefault();
      setIsOver(true);
    };
    const onDragLeave = (event: DragEvent) => event.relatedTarget === null && setIsOver(false);
    const onDrop = (event: DragEvent) => {
      event.preventDefault();
      setIsOver(false);
      void takeFiles(event.dataTransfer?.files);
    };
    addEventListener('dragover', onDragOver);
    addEventListener('dragleave', onDragLeave);
    addEventListener('drop', onDrop);
    return () => {
      removeEventListener('dragover', onDragOver);
      removeEventListener('dragleave', onDragLeave);
      removeEventListener('drop', onDrop);
    };
  });
  return (
    <section class={`card intake ${isOver ? 'intake-over' : ''}`} aria-label="Receipt">
      <div class="card-head">
        <h2 id="receipt-label">Receipt</h2>
        <p>JSON, a bundle, or the JWS alone; at most {MAX_BUNDLE_BYTES / 1_048_576} MB</p>
      </div>
      <textarea
        aria-labelledby="receipt-label"
        rows={7}
        spellcheck={false}
        autocomplete="off"
        placeholder="Drop a file here, or paste"
        value={text}
        onInput={(event) => onText(event.currentTarget.value)}
      />
      <div class="row">
        <ChooseFile label="Choose a file" onFiles={takeFiles} />
        {text === '' ? (
          <button type="button" class="button" onClick={onExample}>
            Try an example
          </button>
        ) : (
          <button type="button" class="button" onClick={clear}>
            Clear
          </button>
        )}
      </div>
      <Problem text={problem} />
    </section>
  );
};

/** Null where the file is too large or cannot be read, as a dropped folder. */
export const readFile = async (file: File): Promise<string | null> =>
  file.size > MAX_BUNDLE_BYTES ? null : file.text().catch(() => null);

/** A file input that looks like a button and behaves as one for the keyboard. */
export const ChooseFile = ({
  label,
  onFiles,
}: {
  readonly label: string;
  readonly onFiles: (files: FileList | null) => Promise<void>;
}) => (
  <label class="button choose">
    {label}
    <input
      type="file"
      class="unseen"
      onChange={async ({ currentTarget }) => {
        await onFiles(currentTarget.files);
        // Cleared, so that the same file can be chosen again.
        currentTarget.value = '';
      }}
    />
  </label>
);
