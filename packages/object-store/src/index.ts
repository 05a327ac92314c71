/** Immutable objects named by their content, in a folder or a bucket (docs/decisions/0065-objects-named-by-their-content.md). */
export { objectName } from './names.ts';
export {
  assertAnswers,
  filePlaces,
  freeFilePlacesOf,
  type OpenedObjects,
  openObjects,
  placeMaker,
} from './open-objects.ts';
export { type BucketPlace, parsePlace } from './parse-place.ts';
