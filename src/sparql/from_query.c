#include "base/error.h"
#include "wfre/sparql.h"

wfre_status wfre_sparql_from_query(const wfre_query *query, const wfre_rdf_view *view,
                                   const wfre_sparql_print_options *options, char **text,
                                   wfre_error *error)
{
    (void)query, (void)view, (void)options, (void)text;
    return wfre_fail(error, WFRE_ERR_UNSUPPORTED, WFRE_NO_OFFSET, "this is not there yet");
}
