package simulate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// A Call is a tool call that a user wrote in the form name{json}.
type Call struct {
	Tool string
	Args json.RawMessage // arguments; nil means {}

	Asked string // the name as the user wrote it, if [Simulation.ReadAs] replaced it; otherwise empty
}

func (c Call) String() string { return c.Tool + string(c.Args) }

// ParseCalls parses a comma-separated list of calls.
func ParseCalls(text string) ([]Call, error) {
	var calls []Call
	for rest := text; ; {
		i := strings.IndexAny(rest, ",{")
		if i < 0 {
			i = len(rest)
		}
		c := Call{Tool: strings.TrimSpace(rest[:i])}
		if c.Tool == "" {
			return nil, fmt.Errorf("the name of a call is missing at %q", rest)
		}
		rest = rest[i:]
		if strings.HasPrefix(rest, "{") {
			args, after, err := object(rest)
			if err != nil {
				return nil, fmt.Errorf("the arguments of %s: %w", c.Tool, err)
			}
			c.Args, rest = args, strings.TrimSpace(after)
		}
		calls = append(calls, c)
		if rest == "" {
			return calls, nil
		}
		if !strings.HasPrefix(rest, ",") {
			return nil, fmt.Errorf("a comma is missing before %q", rest)
		}
		rest = rest[1:]
	}
}

// object parses the JSON object at the start of text. It returns the object and the remaining text.
func object(text string) (object json.RawMessage, rest string, err error) {
	d := json.NewDecoder(strings.NewReader(text))
	if err := d.Decode(&object); err != nil {
		return nil, "", fmt.Errorf("they are not a JSON object, such as {\"path\": \"a.txt\"}: %w", err)
	}
	object, err = Arguments(string(object))
	return object, text[d.InputOffset():], err
}

// Arguments validates the arguments of a call and returns them in compact form.
func Arguments(text string) (json.RawMessage, error) {
	text = strings.TrimSpace(text)
	if err := rawjson.Check([]byte(text), rawjson.MaxDepth); err != nil {
		return nil, fmt.Errorf("they are not a JSON object, such as {\"path\": \"a.txt\"}: %w", err)
	}
	if rawjson.Kind([]byte(text)) != '{' {
		return nil, fmt.Errorf(`they are not a JSON object, such as {"path": "a.txt"}: %s`, text)
	}
	var compact bytes.Buffer
	err := json.Compact(&compact, []byte(text))
	return compact.Bytes(), err
}

// oneCall parses a call of the form NAME [JSON].
func oneCall(text string) (Call, error) {
	i := strings.IndexAny(text, " \t{")
	if i < 0 {
		i = len(text)
	}
	c := Call{Tool: text[:i]}
	if c.Tool == "" {
		return c, errors.New(`the name of the tool is missing; write: call delete {"path": "a"}`)
	}
	if text = strings.TrimSpace(text[i:]); text == "" {
		return c, nil
	}
	var err error
	if c.Args, err = Arguments(text); err != nil {
		return c, fmt.Errorf("the arguments of %s: %w", c.Tool, err)
	}
	return c, nil
}
