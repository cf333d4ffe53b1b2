package config

// An origin is the node that a part of the configuration was read from. It allows problems found
// after decoding to point to the exact word.
type origin struct {
	source *source
	node   *node
}

// Of returns the position of the value of a key or, if the value is a list, of the entry equal to
// text. Without such a value, Of returns the position of the whole part. If the part does not come
// from a file, Of returns the zero Position.
func (o origin) Of(key, text string) Position {
	if o.source == nil {
		return Position{}
	}
	return o.in(o.node.get(key), text)
}

// Has reports whether the part contains the key.
func (o origin) Has(key string) bool { return o.source != nil && o.node.get(key) != nil }

// in returns the position of text in the list value. It falls back to the position of the list or,
// if value is nil, to that of the part.
func (o origin) in(value *node, text string) Position {
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

// Excerpt returns the source line with a caret under the column. It returns the empty string if the
// part does not come from a file.
func (o origin) Excerpt(line, column int) string {
	if o.source == nil {
		return ""
	}
	return o.source.excerpt(line, column)
}
