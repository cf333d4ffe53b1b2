package rawjson

// AppendCompact appends value without white space. Lexemes and order stay.
func AppendCompact(dst, value []byte) []byte {
	tokens(value, func(_ byte, tok []byte) bool {
		dst = append(dst, tok...)
		return true
	})
	return dst
}

// AppendIndent appends value for people to read: a member or element on each
// line, behind prefix and as many indents as it is deep. The first line has
// neither. Numbers and strings keep their lexemes, members their order.
func AppendIndent(dst, value []byte, prefix, indent string) []byte {
	p := printer{out: dst, prefix: prefix, indent: indent}
	tokens(value, p.token)
	return p.out
}

type printer struct {
	out            []byte
	prefix, indent string
	depth          int
	opened         bool // the last token was an opening bracket
}

func (p *printer) token(kind byte, tok []byte) bool {
	opened := p.opened
	p.opened = kind == '{' || kind == '['
	closes := kind == '}' || kind == ']'
	if closes {
		p.depth--
	}
	if opened != closes && (opened || closes) {
		p.line()
	}
	p.out = append(p.out, tok...)
	switch kind {
	case '{', '[':
		p.depth++
	case ',':
		p.line()
	case ':':
		p.out = append(p.out, ' ')
	}
	return true
}

func (p *printer) line() {
	p.out = append(p.out, '\n')
	p.out = append(p.out, p.prefix...)
	for range p.depth {
		p.out = append(p.out, p.indent...)
	}
}
