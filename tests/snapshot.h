/* Snapshot images for tests that damage them. */
#ifndef WFRE_TESTS_SNAPSHOT_H
#define WFRE_TESTS_SNAPSHOT_H

#include <string.h>

#include "base/hash.h"
#include "graph/image.h"

/* Makes the checksums of blocks fit, if they have room where the header says, at any address. */
static inline void snapshot_seal_blocks(unsigned char *bytes, size_t length)
{
    const wfre_image_header *header = (const wfre_image_header *)(const void *)bytes;
    size_t at = (size_t)header->sums, count = 0;
    if (at < wfre_image_body(sizeof(wfre_image_header)) || at > length)
        return;
    count =
        (at - wfre_image_body(sizeof(wfre_image_header)) + WFRE_IMAGE_BLOCK - 1) / WFRE_IMAGE_BLOCK;
    if (length - at != 8 * (count + 1))
        return;
    for (size_t i = 0; i < count; i++) {
        size_t begin = wfre_image_body(sizeof(wfre_image_header)) + i * WFRE_IMAGE_BLOCK,
               end = begin + WFRE_IMAGE_BLOCK;
        uint64_t sum = wfre_hash(bytes + begin, (end < at ? end : at) - begin, 0);
        memcpy(bytes + at + i * sizeof sum, &sum, sizeof sum);
    }
    uint64_t all = wfre_hash(bytes + at, count * sizeof all, 0);
    memcpy(bytes + at + count * sizeof all, &all, sizeof all);
}

/* Makes length and checksums fit what is there, as a malicious file would. */
static inline void snapshot_seal(void *bytes, size_t length)
{
    wfre_image_header *header = bytes;
    if (length < sizeof *header)
        return;
    header->length = length;
    snapshot_seal_blocks(bytes, length);
    for (int section = 0; section < WFRE_IMAGE_SECTIONS; section++) {
        wfre_image_section *row = &header->sections[section];
        if (row->offset <= length && row->length <= length - row->offset)
            row->checksum = wfre_hash((unsigned char *)bytes + row->offset, (size_t)row->length, 0);
    }
    header->checksum = wfre_hash(header, offsetof(wfre_image_header, checksum), 0);
}

/* Looks up what there is through the functions that stay inside even a damaged image; with a
 * sanitizer this shows that they do. */
static inline uint64_t snapshot_use(const wfre_graph *graph)
{
    uint64_t sum = wfre_graph_find_entity(graph, "\"B\"@de", 6);
    sum += wfre_graph_find_entity(graph, "EIN b", 5); /* through all labels */
    sum += wfre_graph_find_relation(graph, "no such label", 13);
    for (wfre_entity e = 0; e < 8; e++) {
        wfre_name name = wfre_graph_entity_label(graph, e);
        sum += name.length ? (unsigned char)name.bytes[name.length - 1] : 0;
        sum += wfre_graph_find_entity(graph, name.bytes, name.length);
        sum += wfre_graph_entity_description(graph, e).length;
        for (int split = 0; split < WFRE_SPLITS; split++)
            for (wfre_relation r = 0; r < 5; r++) {
                wfre_list list = wfre_graph_targets(graph, (wfre_split)split, r, e);
                for (size_t i = 0; i < list.count; i++)
                    sum += list.ids[i];
                list = wfre_graph_sources(graph, (wfre_split)split, r);
                for (size_t i = 0; i < list.count; i++)
                    sum += list.ids[i];
            }
    }
    return sum;
}

#endif
