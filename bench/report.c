#include "bench/report.h"

static const char *unit_of(const bench_row *row) {
    return row->unit ? row->unit : "ns";
}

static void print_arm(FILE *out, const bench_arm_result *arm) {
    fprintf(out, "  %-14s %11.5g  %11.5g … %-11.5g %8.4g %10.5g %8.4g %10.5g", arm->name, arm->cost.median,
            arm->cost.low, arm->cost.high, arm->traffic.allocs, arm->traffic.bytes, arm->traffic.growths,
            arm->traffic.copied);
    if (arm->is)
        fprintf(out, "  = %s", arm->is);
    fputc('\n', out);
}

static void print_ratio(FILE *out, const bench_ratio_result *result) {
    const bench_ratio *ratio = &result->ratio;
    int width = fprintf(out, "  %s/%s", ratio->over, ratio->under);
    fprintf(out, "%*s %9.4f  %11.4f … %-11.4f", width < 18 ? 18 - width : 0, "", result->value.median,
            result->value.low, result->value.high);
    if (ratio->at_most > 0)
        fprintf(out, " <= %-6g %s", ratio->at_most, bench_verdict_name(result->verdict));
    fputc('\n', out);
}

void bench_print(FILE *out, const bench_result *result) {
    fprintf(out, "%s/%s\n  %-14s %8s/op  %11s … %-11s %8s %10s %8s %10s\n", result->row->suite, result->row->name,
            "arm", unit_of(result->row), "low", "high", "allocs", "bytes", "growths", "copied");
    for (size_t i = 0; i < result->arm_count; i++)
        print_arm(out, &result->arms[i]);
    for (size_t i = 0; i < result->ratio_count; i++)
        print_ratio(out, &result->ratios[i]);
    fputc('\n', out);
}

void bench_print_line(FILE *out, const bench_result *result) {
    int width = fprintf(out, "%s/%s", result->row->suite, result->row->name);
    fprintf(out, "%*s", width < 36 ? 36 - width : 1, "");
    for (size_t i = 0; i < result->arm_count; i++)
        if (!result->arms[i].is)
            fprintf(out, "  %s %-8.4g", result->arms[i].name, result->arms[i].cost.median);
    fputs(unit_of(result->row), out);
    for (size_t i = 0; i < result->ratio_count; i++)
        fprintf(out, "  %s/%s %.3f", result->ratios[i].ratio.over, result->ratios[i].ratio.under,
                result->ratios[i].value.median);
    fputc('\n', out);
}

static void json_arm(FILE *out, const bench_row *row, const bench_arm_result *arm) {
    fprintf(out, "\"%s\":{\"median\":%.6g,\"low\":%.6g,\"high\":%.6g,\"unit\":\"%s\"", arm->name, arm->cost.median,
            arm->cost.low, arm->cost.high, unit_of(row));
    fprintf(out, ",\"allocs\":%.6g,\"bytes\":%.6g,\"growths\":%.6g,\"copied\":%.6g", arm->traffic.allocs,
            arm->traffic.bytes, arm->traffic.growths, arm->traffic.copied);
    if (arm->is)
        fprintf(out, ",\"is\":\"%s\"", arm->is);
    fputc('}', out);
}

static void json_ratio(FILE *out, const bench_ratio_result *result) {
    fprintf(out, "\"%s/%s\":{\"median\":%.6g,\"low\":%.6g,\"high\":%.6g", result->ratio.over, result->ratio.under,
            result->value.median, result->value.low, result->value.high);
    if (result->ratio.at_most > 0)
        fprintf(out, ",\"required\":%.6g,\"verdict\":\"%s\"}", result->ratio.at_most,
                bench_verdict_name(result->verdict));
    else
        fputs(",\"required\":null,\"verdict\":null}", out);
}

void bench_print_json(FILE *out, const bench_result *result) {
    fprintf(out, "{\"suite\":\"%s\",\"case\":\"%s\",\"arms\":{", result->row->suite, result->row->name);
    for (size_t i = 0; i < result->arm_count; i++) {
        fputs(i > 0 ? "," : "", out);
        json_arm(out, result->row, &result->arms[i]);
    }
    fputs("},\"ratios\":{", out);
    for (size_t i = 0; i < result->ratio_count; i++) {
        fputs(i > 0 ? "," : "", out);
        json_ratio(out, &result->ratios[i]);
    }
    fputs("}}\n", out);
}

static void print_requirement(FILE *out, const bench_row *row, const bench_ratio *ratio) {
    fprintf(out, "%s/%s %s/%s", row->suite, row->name, ratio->over, ratio->under);
    if (ratio->at_most > 0)
        fprintf(out, " <= %g", ratio->at_most);
    fputc('\n', out);
}

void bench_print_row(FILE *out, const bench_row *row) {
    if (!row->ratios[0].over)
        fprintf(out, "%s/%s\n", row->suite, row->name);
    for (size_t i = 0; i < BENCH_MOST_RATIOS && row->ratios[i].over; i++)
        print_requirement(out, row, &row->ratios[i]);
}
