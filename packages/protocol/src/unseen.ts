/**
 * Matches a character that is not visible: control and format characters, spaces other than U+0020, and characters
 * without a glyph.
 */
export const UNSEEN =
  /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}\u{13441}\u{13442}\u{16fe4}]|(?! )\p{Zs}/u;
