package relay

// A listKind is a kind of list other than tools/list.
type listKind struct {
	method     string
	capability string
	member     string // member of the result that contains the items
	key        string // member of an item that identifies it
}

var (
	PromptList   = listKind{"prompts/list", "prompts", "prompts", "name"}
	ResourceList = listKind{"resources/list", "resources", "resources", "uri"}
	TemplateList = listKind{"resources/templates/list", "resources", "resourceTemplates", "uriTemplate"}
)
