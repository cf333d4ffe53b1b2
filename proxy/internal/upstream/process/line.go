package process

import (
	"bytes"
)

// OneLine puts another white space in the place of line breaks. In JSON they are
// white space between tokens and nothing else, but where a line is a message
// they would end it. In a string of a message that was not checked a tab is as
// wrong as they are; a space would make it right, and another text.
func OneLine(b []byte, space byte) {
	for _, c := range []byte{'\n', '\r'} {
		for rest := b; ; {
			i := bytes.IndexByte(rest, c)
			if i < 0 {
				break
			}
			rest[i] = space
			rest = rest[i+1:]
		}
	}
}
