package config

// An origin is where in a file a part of a net stands, so that what is found
// out later can be shown at the very word.
type origin struct {
	source *source
	node   *node
}

// Of is the place of the value of a key, or of the text in it where it is a
// list. It is the place of the part where there is no such thing, and none
// where the part is from no file.
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

// Excerpt is the line of the file and a caret below that place; empty where
// the part is from no file.
func (o origin) Excerpt(line, column int) string {
	if o.source == nil {
		return ""
	}
	return o.source.excerpt(line, column)
}
