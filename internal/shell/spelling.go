package shell

import "strings"

const nameLetters = "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// plainLetters lists the characters that have no special meaning in any shell, except possibly at
// the start of a word.
const plainLetters = nameLetters + "0123456789./:=@%+,-"

// isName reports whether s can be the name of a variable.
func isName(s string) bool {
	return s != "" && strings.Trim(s, nameLetters+"0123456789") == "" && strings.Trim(s[:1], nameLetters) == ""
}

func isDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// isCluster reports whether text is a single dash followed by letters.
func isCluster(text string) bool {
	return len(text) > 1 && text[0] == '-' && text[1] != '-'
}

// isOption reports whether word looks like an option.
func isOption(word string) bool { return len(word) > 1 && word[0] == '-' && word != "--" }

// matchStar reports whether text matches glob. The only wildcard is *, which matches any text.
func matchStar(glob, text string) bool {
	before, rest, star := strings.Cut(glob, "*")
	if !star {
		return text == glob
	}
	if !strings.HasPrefix(text, before) {
		return false
	}
	text = text[len(before):]
	for {
		part, more, star := strings.Cut(rest, "*")
		if !star {
			return strings.HasSuffix(text, rest)
		}
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text, rest = text[i+len(part):], more
	}
}

// name returns the option in text without its value.
func name(text string) string {
	name, _, _ := strings.Cut(text, "=")
	return name
}

// isNumber reports whether name is a special parameter, such as # or ?, whose value is always a
// number.
func isNumber(name string) bool {
	return name == "?" || name == "#" || name == "$" || name == "!"
}
