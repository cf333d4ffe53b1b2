package toolnet

import "strings"

// A Doubt is the reason why a map cannot tell whether a text matches, or why the
// success of a call does not show that it has.
type Doubt struct {
	What   string // such as "a command word that is not literal"
	Code   string // the part of the text that has it, shortened; empty: the text as a whole
	At     int    // the position of Code in the text, in characters, counted from 1; 0: as Code
	Advice string // what to write instead; may be empty
}

// String returns the doubt as a part of a sentence.
func (d Doubt) String() string {
	if d.Code == "" {
		return d.What
	}
	return d.What + " in `" + d.Code + "`"
}

// Way returns the advice as a sentence, or "".
func (d Doubt) Way() string {
	if d.Advice == "" {
		return ""
	}
	return strings.ToUpper(d.Advice[:1]) + d.Advice[1:] + "."
}
