package config

// An origin is the node that a part of the configuration was decoded from. It allows problems found
// after decoding to be reported at the position of the word that causes them.
type origin struct {
	source *source
	node   *node
}

// Of returns the position to report for a problem with a key. If the key contains a list with the
// entry text, this is the position of the entry; otherwise, it is the position of the key's value.
// If the key does not exist, it is the position of the enclosing value. If this part of the
// configuration does not come from a file, Of returns the zero Position.
func (o origin) Of(key, text string) Position {
	if o.source == nil {
		return Position{}
	}
	return o.entryPosition(o.node.get(key), text)
}

// Has reports whether this part of the configuration contains the key.
func (o origin) Has(key string) bool { return o.source != nil && o.node.get(key) != nil }

// entryPosition returns the position of the entry text in a list. If the list does not contain the
// entry, it returns the position of the list. If the list is nil, it returns the position of this
// part of the configuration.
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
