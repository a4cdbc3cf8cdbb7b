#pragma once
// Every key of the file, once: what it is called, how it is written, what it means, where its value goes.
// Reading, printing, the reference and the comparison of two configurations all follow from this.
#include "config/config.h"
#include "config/section.h"

namespace matchrdma {

/// The whole file.
const Kind<Config>& schema();

// Its parts, one file each.
Kind<Limits> limits_section();
Kind<Timing> timing_section();
Kind<Tuning> tuning_section();
Kind<std::vector<SpanConfig>> spans_list();
Kind<std::vector<ClassConfig>> classes_list();
Kind<WorkersConfig> workers_section();
Kind<MemoryConfig> memory_section();
Kind<AdminConfig> admin_section();
Kind<RegisterConfig> register_section();
Kind<LogConfig> log_section();

}  // namespace matchrdma
