package text

// Styles of [Ink.In].
const (
	Bold   = "1"
	Faint  = "2"
	Red    = "31"
	Green  = "32"
	Yellow = "33"
	Cyan   = "36"
)

// An Ink colours text at a terminal, if it is true.
type Ink bool

// In returns the text in the style.
func (k Ink) In(style, text string) string {
	if !k {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}
