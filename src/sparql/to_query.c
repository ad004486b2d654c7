#include "base/error.h"
#include "wfre/sparql.h"

wfre_status wfre_sparql_to_query(const wfre_sparql *sparql, const wfre_rdf_view *view,
                                 wfre_query **query, wfre_error *error)
{
    (void)sparql, (void)view, (void)query;
    return wfre_fail(error, WFRE_ERR_UNSUPPORTED, WFRE_NO_OFFSET, "this is not there yet");
}
