# SPDX-License-Identifier: Apache-2.0
# The public types in the output of `readelf --debug-dump=info`, a line each: enumerators with their values, types of
# callbacks, sizes of structs, places and types of members.

function spell(id,    kind, text, child, n) {
  kind = tag[id]
  if (id == "") return "void"
  if (kind == "pointer_type") return spell(type[id]) (tag[type[id]] == "subroutine_type" ? "" : "*")
  if (kind == "const_type") return "const " spell(type[id])
  if (kind == "array_type") return spell(type[id]) "[" length_of[id] "]"
  if (kind != "subroutine_type") return name[id]
  for (n = 1; n <= children[id]; ++n) text = text (n > 1 ? ", " : "") spell(type[child_of[id, n]])
  return spell(type[id]) " (" text ")"
}

/^ *<[0-9a-f]+><[0-9a-f]+>: Abbrev Number: [0-9]+ \(DW_TAG_/ {
  split($0, part, /[<>]/)
  depth = part[2]
  id = part[4]
  tag[id] = $0
  sub(/.*DW_TAG_/, "", tag[id])
  sub(/\).*/, "", tag[id])
  open_at[depth] = id
  order[++count] = id
  parent = open_at[depth - 1]
  if (depth > 1) child_of[parent, ++children[parent]] = id
  next
}
/DW_AT_(name|byte_size|data_member_location|const_value|upper_bound|type)[ :]/ {
  value = $0
  sub(/^[^:]*: /, "", value)
  sub(/^\(indirect [a-z ]*string, offset: (0x)?[0-9a-f]+\): /, "", value)
  sub(/^\(data[0-9]\) */, "", value)
  sub(/[ \t]+$/, "", value)
  if (/DW_AT_name[ :]/) name[id] = value
  if (/DW_AT_byte_size[ :]/) size[id] = value
  if (/DW_AT_data_member_location[ :]/) place[id] = value
  if (/DW_AT_const_value[ :]/) constant[id] = value
  if (/DW_AT_upper_bound[ :]/) length_of[parent] = value + 1
  if (/DW_AT_type[ :]/) { gsub(/[<>]|0x/, "", value); type[id] = value }
}
END {
  for (n = 1; n <= count; ++n) {
    id = order[n]
    if (tag[id] == "enumerator" && name[id] ~ /^MOTE_/) print "enumerator " name[id] " = " constant[id]
    if (name[id] !~ /^mote_/) continue
    if (tag[id] == "typedef" && tag[type[id]] == "pointer_type") print "callback " name[id] ": " spell(type[id])
    if (tag[id] != "structure_type" || size[id] == "") continue
    print "struct " name[id] ": " size[id] " bytes"
    for (m = 1; m <= children[id]; ++m) {
      member = child_of[id, m]
      print "member " name[id] "." name[member] ": at " place[member] ", " spell(type[member])
    }
  }
}
