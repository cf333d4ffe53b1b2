package lsp

import "encoding/json"

// The following types describe the parts of the protocol, version 3.17, that the server uses.

type initializeParams struct {
	Options struct {
		Tools string `json:"tools"` // path of a file with a recorded list of tools
	} `json:"initializationOptions"`
	Capabilities struct {
		TextDocument struct {
			Completion struct {
				CompletionItem struct {
					SnippetSupport bool `json:"snippetSupport"`
				} `json:"completionItem"`
			} `json:"completion"`
		} `json:"textDocument"`
	} `json:"capabilities"`
}

type identifier struct {
	URI string `json:"uri"`
}

type didOpenParams struct {
	TextDocument struct {
		URI        string `json:"uri"`
		Version    int    `json:"version"`
		Text       string `json:"text"`
		LanguageID string `json:"languageId"`
	} `json:"textDocument"`
}

type didChangeParams struct {
	TextDocument struct {
		URI     string `json:"uri"`
		Version int    `json:"version"`
	} `json:"textDocument"`
	ContentChanges []struct {
		Range *Range `json:"range"`
		Text  string `json:"text"`
	} `json:"contentChanges"`
}

// A documentParams value contains the parameters of a request about a document or a position in it.
type documentParams struct {
	TextDocument identifier `json:"textDocument"`
	Position     Position   `json:"position"`
}

type codeActionParams struct {
	TextDocument identifier `json:"textDocument"`
	Context      struct {
		Diagnostics []json.RawMessage `json:"diagnostics"` // diagnostics that the editor shows for the range; kept as JSON to return them unchanged
	} `json:"context"`
}

// Severities of diagnostics.
const (
	severityError   = 1
	severityWarning = 2
	severityInfo    = 3
)

type diagnostic struct {
	Range    Range     `json:"range"`
	Severity int       `json:"severity"`
	Code     string    `json:"code,omitempty"`
	Source   string    `json:"source"`
	Message  string    `json:"message"`
	Related  []related `json:"relatedInformation,omitempty"`
	Data     *repair   `json:"data,omitempty"`
}

type related struct {
	Location location `json:"location"`
	Message  string   `json:"message"`
}

// A repair is a replacement for the text marked by a diagnostic.
type repair struct {
	Write string `json:"write"`
}

type publishParams struct {
	URI         string       `json:"uri"`
	Version     *int         `json:"version,omitempty"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

type location struct {
	URI   string `json:"uri"`
	Range Range  `json:"range"`
}

type textEdit struct {
	Range   Range  `json:"range"`
	NewText string `json:"newText"`
}

type hover struct {
	Contents markup `json:"contents"`
	Range    Range  `json:"range"`
}

type markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

// Kinds of completion items.
const (
	kindFunction = 3
	kindField    = 5
	kindKeyword  = 14
	kindSnippet  = 15
	kindConstant = 21
)

type completionItem struct {
	Label    string   `json:"label"`
	Kind     int      `json:"kind"`
	Detail   string   `json:"detail,omitempty"`
	Doc      *markup  `json:"documentation,omitempty"`
	Sort     string   `json:"sortText"`
	Format   int      `json:"insertTextFormat,omitempty"` // 2 if the text is a snippet
	TextEdit textEdit `json:"textEdit"`
}

type completionList struct {
	IsIncomplete bool             `json:"isIncomplete"`
	Items        []completionItem `json:"items"`
}

// Kinds of symbols.
const (
	symbolMethod   = 6
	symbolConstant = 14
	symbolEvent    = 24
)

type documentSymbol struct {
	Name           string `json:"name"`
	Detail         string `json:"detail,omitempty"`
	Kind           int    `json:"kind"`
	Range          Range  `json:"range"`
	SelectionRange Range  `json:"selectionRange"`
}

type codeAction struct {
	Title       string            `json:"title"`
	Kind        string            `json:"kind"`
	Diagnostics []json.RawMessage `json:"diagnostics"`
	IsPreferred bool              `json:"isPreferred"`
	Edit        workspaceEdit     `json:"edit"`
}

type workspaceEdit struct {
	Changes map[string][]textEdit `json:"changes"`
}

// capabilities returns the result of the initialize request.
func capabilities(version string) any {
	type object = map[string]any
	return object{
		"serverInfo": object{"name": "petrigate", "version": version},
		"capabilities": object{
			"positionEncoding":           "utf-16",
			"textDocumentSync":           object{"openClose": true, "change": 2, "save": true},
			"hoverProvider":              true,
			"completionProvider":         object{"triggerCharacters": []string{" ", ".", ","}},
			"documentFormattingProvider": true,
			"documentSymbolProvider":     true,
			"definitionProvider":         true,
			"codeActionProvider":         object{"codeActionKinds": []string{"quickfix"}},
		},
	}
}
