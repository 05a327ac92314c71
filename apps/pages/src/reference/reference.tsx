/** `/docs` until an operation is opened: the list of all operations, by area. */
import { Shell } from '../shared/shell.tsx';
import type { Area } from './operations.ts';

/** Headings of the document's description. */
const SECTIONS = ['Getting started', 'Limits', 'Errors'];

export const Reference = ({ areas }: { readonly areas: readonly Area[] }) => (
  <Shell page="reference">
    <div id="reference">
      <section class="area">
        <h2>Read first</h2>
        <p class="soft">What holds of every operation.</p>
        <ul>
          {SECTIONS.map((name) => (
            <li key={name}>
              <a href={`#section/${name.replaceAll(' ', '-')}`}>{name}</a>
            </li>
          ))}
        </ul>
      </section>
      {areas.map(({ name, description, operations }) => (
        <section key={name} class="area">
          <h2>{name}</h2>
          <p class="soft">{description}</p>
          <ul>
            {operations.map(({ id, method, path, summary }) => (
              <li key={id}>
                <a href={`#tag/${name.replaceAll(' ', '-')}/operation/${id}`}>{summary}</a>
                <code>
                  {method} {path}
                </code>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </div>
  </Shell>
);
