$version: "2"
namespace example

list Nested { member: Nested }

list Rows { member: Columns }
map Columns { key: String, value: Cells }
list Cells { member: Rows }

list Fine { member: Node }
structure Node { children: Fine }
