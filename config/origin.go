package config

// An origin is the position in a file of a part of a net, so that problems found
// later can be shown at the exact word.
type origin struct {
	source *source
	node   *node
}

// Of returns the position of the value of a key or, in a list, of the text in it.
// It returns the position of the part if there is no such value, and none if the
// part does not come from a file.
func (o origin) Of(key, text string) Position {
	if o.source == nil {
		return Position{}
	}
	value := o.node.get(key)
	if value == nil {
		return o.source.position(o.node)
	}
	for _, item := range value.items {
		if item.kind == textKind && item.text == text {
			return o.source.position(item)
		}
	}
	return o.source.position(value)
}

// Excerpt returns the line of the file and a caret below that position, or "" if
// the part does not come from a file.
func (o origin) Excerpt(line, column int) string {
	if o.source == nil {
		return ""
	}
	return o.source.excerpt(line, column)
}
