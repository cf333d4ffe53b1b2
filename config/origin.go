package config

// An origin is the node that a part of the configuration was decoded from. It allows problems found
// after decoding to be reported at the position of the word that causes them.
type origin struct {
	source *source
	node   *node
}

// Of returns the position to report for a problem with a key. Usually, this is the position of the
// key's value. If the value is a list that contains the given text, Of returns the position of that
// element. If the key does not exist, Of returns the position of the mapping that should contain
// it. If the configuration does not come from a file, Of returns the zero Position.
func (o origin) Of(key, text string) Position {
	if o.source == nil {
		return Position{}
	}
	return o.entryPosition(o.node.get(key), text)
}

// Has reports whether this part of the configuration contains the key.
func (o origin) Has(key string) bool { return o.source != nil && o.node.get(key) != nil }

// entryPosition returns the position of the element with the given text in a list. Without such an
// element, it returns the position of the list or, if the list is nil, the position of the mapping
// that should contain it.
func (o origin) entryPosition(value *node, text string) Position {
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

// Excerpt returns the source line with a caret below the column. If this part of the configuration
// does not come from a file, it returns the empty string.
func (o origin) Excerpt(line, column int) string {
	if o.source == nil {
		return ""
	}
	return o.source.excerpt(line, column)
}
