package toolnet

import "strings"

// A Doubt explains why it is uncertain whether a string matches a [Map], or why a call's success
// does not prove that the matching part of the string was executed and succeeded.
type Doubt struct {
	What   string // description of the part that is uncertain, such as "a command word that is not literal"
	Code   string // relevant part of the string, shortened; empty means the whole string
	At     int    // 1-based character position of Code in the string; 0 if unknown
	Advice string // what to write instead; may be empty
}

// String describes the reason in words that fit into a sentence.
func (d Doubt) String() string {
	if d.Code == "" {
		return d.What
	}
	return d.What + " in `" + d.Code + "`"
}

// Way returns the advice as a sentence, or "" if d has no advice.
func (d Doubt) Way() string {
	if d.Advice == "" {
		return ""
	}
	return strings.ToUpper(d.Advice[:1]) + d.Advice[1:] + "."
}
