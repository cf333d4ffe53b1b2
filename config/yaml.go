package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// readYAML parses a single YAML document. It returns nil if the text is empty or is not YAML.
func (s *source) readYAML(text string) *node {
	file, err := parseYAML(text)
	if err != nil {
		s.syntax(err)
		return nil
	}
	var body ast.Node
	for _, doc := range file.Docs {
		if d, ok := doc.Body.(*ast.DirectiveNode); ok {
			s.token(d.GetToken(), "directives are not supported", "delete the line")
			return nil
		}
		if doc.Body == nil {
			continue
		}
		if body != nil {
			s.token(firstToken(doc.Body), "a second document is not allowed", "write one document per file")
			return nil
		}
		body = doc.Body
	}
	if body == nil {
		return nil
	}
	r := &yamlReader{source: s, anchors: map[string]ast.Node{}, open: map[string]bool{}}
	n := r.node(body, 0)
	if r.stopped {
		return nil
	}
	return n
}

// parseYAML calls the YAML library and converts its panics to errors.
func parseYAML(text string) (file *ast.File, err error) {
	defer func() {
		if r := recover(); r != nil {
			file, err = nil, errors.New("the file is not valid YAML")
		}
	}()
	tokens := lexer.Tokenize(text)
	if tk, what := overLimit(tokens); tk != nil {
		return nil, &yaml.SyntaxError{Message: what, Token: tk}
	}
	return parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
}

// overLimit returns the first token that exceeds the maximum nesting depth or the maximum number of
// keys, with an error message. Without these limits, deep nesting would overflow the stack of the
// recursive parser, and a Go program cannot recover from a stack overflow. overLimit does not count
// nesting by indentation alone.
func overLimit(tokens token.Tokens) (at *token.Token, what string) {
	flow, run, line, keys := 0, 0, 0, 0
	for _, tk := range tokens {
		if tk.Position != nil && tk.Position.Line != line {
			run, line = 0, tk.Position.Line
		}
		switch tk.Type {
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow--
		case token.SequenceEntryType, token.MappingKeyType, token.AnchorType, token.TagType, token.MappingValueType:
			run++
			if flow > 0 && tk.Type == token.MappingValueType {
				run-- // entries of a flow mapping are not nested in each other
			}
			if tk.Type == token.MappingValueType {
				keys++
			}
		}
		switch {
		case keys > maxKeys:
			return tk, fmt.Sprintf("the file has more than %d keys", maxKeys)
		case flow > maxDepth, run > maxDepth && flow == 0:
			return tk, fmt.Sprintf("values are nested more than %d levels deep", maxDepth)
		}
	}
	return nil, ""
}

func (s *source) syntax(err error) {
	if bad, ok := errors.AsType[*yaml.SyntaxError](err); ok && bad.Token != nil {
		if strings.Contains(bad.Message, "'\t'") {
			s.token(bad.Token, "a tab is not allowed here", "indent YAML with spaces")
			return
		}
		hint := ""
		if strings.Contains(bad.Message, "not allowed in this context") && !looksJSON(strings.Join(s.lines, "\n")) {
			hint = "check the indentation of this line and the line before it"
		}
		s.token(bad.Token, bad.Message, hint)
		return
	}
	s.add(1, 1, err.Error(), "")
}

func (s *source) token(tk *token.Token, msg, hint string) {
	line, column := place(tk)
	s.add(line, column, msg, hint)
}

func place(tk *token.Token) (line, column int) {
	if tk == nil || tk.Position == nil {
		return 1, 1
	}
	return tk.Position.Line, tk.Position.Column
}

// firstToken returns the first token of a value. The position that the library gives for a block
// mapping cannot be used, because it is the position of the first colon.
func firstToken(n ast.Node) *token.Token {
	switch n := n.(type) {
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return firstToken(n.Values[0])
		}
	case *ast.MappingValueNode:
		return firstToken(n.Key)
	}
	return n.GetToken()
}

// A yamlReader converts the library's tree to nodes and resolves aliases.
type yamlReader struct {
	*source
	anchors map[string]ast.Node
	open    map[string]bool // anchors being read; an alias to one of them would be a cycle
	nodes   int
	stopped bool
}

func (r *yamlReader) node(v ast.Node, depth int) *node {
	n := &node{}
	if v == nil || r.stopped {
		return n
	}
	tk := firstToken(v)
	n.line, n.column = place(tk)
	n.endLine, n.endColumn = n.line, n.column
	r.nodes++
	if depth > maxDepth || r.nodes > maxNodes {
		r.refuse(tk, "the file contains too many values, or nests them too deeply", "an alias counts each time it is used")
		return n
	}
	switch v := v.(type) {
	case *ast.MappingNode:
		r.mapping(n, v.Values, depth)
	case *ast.MappingValueNode:
		r.mapping(n, []*ast.MappingValueNode{v}, depth)
	case *ast.SequenceNode:
		n.kind = listKind
		for _, item := range v.Values {
			n.items = append(n.items, r.node(item, depth+1))
		}
	case *ast.AnchorNode:
		return r.anchor(v, depth)
	case *ast.AliasNode:
		return r.alias(v, depth)
	case *ast.TagNode:
		n.kind = brokenKind
		r.token(tk, "tags are not supported", "")
	default:
		r.scalar(n, v)
	}
	return n
}

// refuse records a problem and stops the reader, because later values would have the same problem.
func (r *yamlReader) refuse(tk *token.Token, msg, hint string) {
	if !r.stopped {
		r.token(tk, msg, hint)
	}
	r.stopped = true
}

func (r *yamlReader) mapping(n *node, values []*ast.MappingValueNode, depth int) {
	n.kind = mapKind
	for _, v := range values {
		tk := firstToken(v.Key)
		key := &node{kind: textKind}
		key.line, key.column = place(tk)
		key.endLine, key.endColumn = key.line, key.column
		switch k := v.Key.(type) {
		case *ast.StringNode:
			key.text = k.Value
		case *ast.MergeKeyNode:
			r.token(tk, `merge keys ("<<") are not supported`, "write the keys out")
			continue
		default:
			r.token(tk, "a key must be text", fmt.Sprintf("write it in quotes: %q", tk.Value))
			continue
		}
		n.fields = append(n.fields, field{key, r.node(v.Value, depth+1)})
	}
}

func (r *yamlReader) anchor(v *ast.AnchorNode, depth int) *node {
	name := anchorName(v.Name)
	r.anchors[name] = v.Value
	r.open[name] = true
	n := r.node(v.Value, depth)
	r.open[name] = false
	return n
}

func (r *yamlReader) alias(v *ast.AliasNode, depth int) *node {
	name := anchorName(v.Value)
	target, ok := r.anchors[name]
	switch {
	case !ok:
		r.token(v.GetToken(), fmt.Sprintf("unknown anchor %q", name), "")
	case r.open[name]:
		r.refuse(v.GetToken(), fmt.Sprintf("the anchor %q contains itself", name), "")
	default:
		return r.node(target, depth)
	}
	n := &node{kind: brokenKind}
	n.line, n.column = place(v.GetToken())
	return n
}

func anchorName(n ast.Node) string {
	if n == nil || n.GetToken() == nil {
		return ""
	}
	return n.GetToken().Value
}

func (r *yamlReader) scalar(n *node, v ast.Node) {
	tk := v.GetToken()
	origin := strings.TrimSpace(tk.Origin)
	switch v := v.(type) {
	case *ast.StringNode:
		n.kind, n.text = textKind, v.Value
	case *ast.LiteralNode:
		n.kind, n.text, n.block = textKind, v.Value.Value, true
		r.blockEnd(n, v)
		return
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		n.kind, n.text = numberKind, tk.Value
	case *ast.BoolNode:
		n.kind, n.text = boolKind, strconv.FormatBool(v.Value)
	case *ast.NullNode:
	default:
		r.token(tk, "this kind of value is not supported", "")
	}
	// The library does not provide the column where the last line of a token ends. A value with
	// several lines is therefore assumed to extend to the end of its last line.
	n.endLine = n.line + strings.Count(origin, "\n")
	n.endColumn = n.column + utf8.RuneCountInString(origin)
	if n.endLine > n.line {
		n.endColumn = 1 << 30
	}
}

// blockEnd finds the last line of a block (| or >): the last line that is indented more than the
// line where the block begins.
func (r *yamlReader) blockEnd(n *node, v *ast.LiteralNode) {
	n.endLine, n.endColumn = n.line, 1<<30
	if v.Value.Token != nil {
		n.endLine += strings.Count(v.Value.Token.Origin, "\n") + 1
	}
}
