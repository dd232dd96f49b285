--
-- PostgreSQL database dump
--


-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: account; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.account (
    id text NOT NULL,
    "accountId" text NOT NULL,
    "providerId" text NOT NULL,
    "userId" text NOT NULL,
    "accessToken" text,
    "refreshToken" text,
    "idToken" text,
    "accessTokenExpiresAt" timestamp with time zone,
    "refreshTokenExpiresAt" timestamp with time zone,
    scope text,
    password text,
    "createdAt" timestamp with time zone NOT NULL,
    "updatedAt" timestamp with time zone NOT NULL
);


--
-- Name: administrators; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.administrators (
    owner text,
    first integer,
    claimed_at bigint
);


--
-- Name: installation; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.installation (
    id text NOT NULL
);


--
-- Name: jobs; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.jobs (
    id text NOT NULL,
    holder text NOT NULL,
    owner text,
    idempotency_key text,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    finished_at bigint,
    outcome text,
    body text,
    digest text,
    metadata text,
    bytes bigint
);


--
-- Name: kysely_migration; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.kysely_migration (
    name character varying(255) NOT NULL,
    "timestamp" character varying(255) NOT NULL
);


--
-- Name: kysely_migration_lock; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.kysely_migration_lock (
    id character varying(255) NOT NULL,
    is_locked integer DEFAULT 0 NOT NULL
);


--
-- Name: playground_codes; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.playground_codes (
    hash text NOT NULL,
    expires_at bigint NOT NULL
);


--
-- Name: session; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.session (
    id text NOT NULL,
    "expiresAt" timestamp with time zone NOT NULL,
    token text NOT NULL,
    "createdAt" timestamp with time zone NOT NULL,
    "updatedAt" timestamp with time zone NOT NULL,
    "ipAddress" text,
    "userAgent" text,
    "userId" text NOT NULL
);


--
-- Name: tokens; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.tokens (
    id text NOT NULL,
    name text NOT NULL,
    prefix text NOT NULL,
    hash text NOT NULL,
    scopes text NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint,
    revoked_at bigint,
    owner text,
    session text,
    last_used_at bigint,
    purpose text
);


--
-- Name: usage; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.usage (
    token text NOT NULL,
    date text NOT NULL,
    owner text,
    requests bigint NOT NULL,
    errors bigint NOT NULL,
    audio_ms bigint NOT NULL
);


--
-- Name: user; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public."user" (
    id text NOT NULL,
    name text NOT NULL,
    email text NOT NULL,
    "emailVerified" boolean NOT NULL,
    image text,
    "createdAt" timestamp with time zone NOT NULL,
    "updatedAt" timestamp with time zone NOT NULL
);


--
-- Name: verification; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.verification (
    id text NOT NULL,
    identifier text NOT NULL,
    value text NOT NULL,
    "expiresAt" timestamp with time zone NOT NULL,
    "createdAt" timestamp with time zone NOT NULL,
    "updatedAt" timestamp with time zone NOT NULL
);


--
-- Data for Name: account; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.account VALUES ('iLXfGaDUqmbP67OsGE5QHeH5isStXLBx', 'MAabpMF6l0MrLRToEhzkDQoCPnrBFVGA', 'credential', 'MAabpMF6l0MrLRToEhzkDQoCPnrBFVGA', NULL, NULL, NULL, NULL, NULL, NULL, '023d8e03b64f09605780a847e799adcc:da863fe6fbaca771eb03bedf6d3fcefc2b442e819f8a86d527f78ec8f3b3e6c9431c489a42caeb95f8eb8e4fe428e3c5b6f0848a8d6677be99d3b3973dd4a87a', '2026-11-30 16:40:46.248+00', '2026-11-30 16:40:46.248+00');


--
-- Data for Name: administrators; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.administrators VALUES ('MAabpMF6l0MrLRToEhzkDQoCPnrBFVGA', 1, NULL);


--
-- Data for Name: installation; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.installation VALUES ('e5dc6319-20b7-4547-9798-b4c3f41d5907');


--
-- Data for Name: jobs; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.jobs VALUES ('job_0VQxobsqASnapHf5D04i', 'account:MAabpMF6l0MrLRToEhzkDQoCPnrBFVGA', 'MAabpMF6l0MrLRToEhzkDQoCPnrBFVGA', 'first', 1796056847342, 1796143247416, 1796056847416, 'done', '{"status":"ok","emotion":{"status":"ok","signals":{"valence":0.9751,"arousal":0.0877,"dominant_emotion":"disgusted","tone":"neutral","emotions":{"neutral":0,"happy":0.0012,"sad":0.0007,"angry":0,"fearful":0,"disgusted":0.9981,"surprised":0},"confidence":0.9981,"intervals":{"valence":[0.9739,0.9764],"arousal":[0.0775,0.0979]}},"timeline":[{"start_s":0,"end_s":1.13,"valence":0.9703,"arousal":0.0827,"dominant_emotion":"disgusted","emotions":{"neutral":0,"happy":0.0005,"sad":0.0007,"angry":0,"fearful":0,"disgusted":0.9988,"surprised":0},"confidence":0.9988,"intervals":{"valence":[0.9681,0.9724],"arousal":[0.0685,0.0969]},"relative":null},{"start_s":1.59,"end_s":2.9,"valence":0.9808,"arousal":0.0934,"dominant_emotion":"disgusted","emotions":{"neutral":0,"happy":0.002,"sad":0.0006,"angry":0,"fearful":0,"disgusted":0.9974,"surprised":0},"confidence":0.9974,"intervals":{"valence":[0.9788,0.9828],"arousal":[0.078,0.1088]},"relative":null}],"moments":null,"relative":null,"warnings":["narrow_band","music_or_noise","speakers_not_compared","short_speech","unlike_training"],"model":{"name":"emotion","version":"1.0.0","features_version":1}},"cognitive":{"status":"ok","signals":{"cognitive_load":0.5378,"clarity":0.6087,"processing":0.4562,"confidence":0.0498,"intervals":{"clarity":[0.4873,0.7301],"cognitive_load":[0.1582,0.8978],"processing":[0.1012,0.8451]}},"clarity_rated_on":"English sentences read aloud by Mandarin speakers","measures":{"pause_ratio":{"value":0.2724,"unit":"ratio"},"pause_rate":{"value":41.3793,"unit":"1/min"},"mean_pause":{"value":0.395,"unit":"s"},"long_pause_rate":{"value":0,"unit":"1/min"},"mean_run":{"value":0.7033,"unit":"s"},"mean_run_syllables":{"value":1.9521,"unit":"syllables"},"articulation_rate":{"value":2.7755,"unit":"syllables/s"},"speech_rate":{"value":2.0194,"unit":"syllables/s"},"pitch_level":{"value":29.6715,"unit":"semitones re 27.5 Hz"},"pitch_range":{"value":4.9264,"unit":"semitones"},"level_range":{"value":13.5892,"unit":"dB"},"spectral_tilt":{"value":-9.423,"unit":"dB/octave"},"hesitation_rate":{"value":20.6897,"unit":"1/min","validated":false}},"contributions":{"cognitive_load":[{"measure":"pause_ratio","value":0.2724,"effect":0.0051,"source":"Khawaja, Ruiz & Chen 2008"},{"measure":"mean_run","value":0.7033,"effect":0.0327,"source":"Betz et al. 2023, Languages 8:71"}],"processing":[{"measure":"mean_run","value":0.7033,"effect":-0.041,"source":"Betz et al. 2023, Languages 8:71"},{"measure":"pause_ratio","value":0.2724,"effect":-0.0028,"source":"Khawaja, Ruiz & Chen 2008"}]},"reference":0.5,"relative":false,"warnings":["narrow_band","music_or_noise","speakers_not_compared","short_speech","insufficient_speech_cognitive"],"model":{"name":"cognitive","version":"1.0.0","features_version":1}},"audio":{"duration_s":3.6998,"speech_s":2.11,"gaps_s":0,"container":"wav","codec":"pcm_mulaw","sample_rate_hz":8000,"channels":1,"snr_db":50.3,"level_dbfs":-19,"clipped_ratio":0,"bandwidth_hz":3956},"segments":[{"type":"speech","start_s":0,"end_s":1.13},{"type":"pause","start_s":1.13,"end_s":1.59},{"type":"speech","start_s":1.59,"end_s":1.81},{"type":"pause","start_s":1.81,"end_s":2.14},{"type":"speech","start_s":2.14,"end_s":2.9},{"type":"pause","start_s":2.9,"end_s":3.6998}],"request_id":"job_0VQxobsqASnapHf5D04i","receipt":{"version":1,"issued_at":"2026-11-30T16:40:47.414Z","purpose":"tests of upgrades","key_id":"0af9b3fcd1bd41fc","upload_sha256":"06de679745a4c179c688bca53b906c57dcf97636018804d6d1e6b2b5c2814f92","baselines_sha256":[],"segments_sha256":null,"samples_sha256":["daf56ec3c4e06e9fd857eb7aea522971c0f73c2e025d06ea6b4a3b60bce3b6c7"],"report_sha256":"23bda2d416545c7a44e0100085af1551e3dccb823f2f369d8bdb1166dd9f431b","options":{"signals":["emotion","cognitive"],"channel":null,"channels":null,"speakers":null},"scores":[{"emotion":{"valence":0.9751,"arousal":0.0877,"dominant_emotion":"disgusted","tone":"neutral","emotions":{"neutral":0,"happy":0.0012,"sad":0.0007,"angry":0,"fearful":0,"disgusted":0.9981,"surprised":0},"confidence":0.9981,"intervals":{"valence":[0.9739,0.9764],"arousal":[0.0775,0.0979]}},"cognitive":{"cognitive_load":0.5378,"clarity":0.6087,"processing":0.4562,"confidence":0.0498,"intervals":{"clarity":[0.4873,0.7301],"cognitive_load":[0.1582,0.8978],"processing":[0.1012,0.8451]}}}],"software":{"undertone":"2.0.0","node":"20.20.2","addon_sha256":"c181e1245f4877904aad4e35b6d20262c79c4b8e7616a95fbf3dbcd10b18e86d","features_version":1,"models":[{"name":"cognitive","version":"1.0.0","sha256":"b16dd5ce3cab0f291e682da37d4f1b6a828da3f0a3d3d3905c5a86d0f6db73f8"},{"name":"emotion","version":"1.0.0","sha256":"29162473c6962a99296a134d152cc73ec91741ba00649ad6ee306a40c3f4b342"},{"name":"trunk","version":"1.0.0","sha256":"ad28673ad8cf659010b5747c0a02a97f9b477747752afe330ff6a472f05726b6"},{"name":"vad","version":"1.0.0","sha256":"0e9821094a1a7191db8d36934bcf47b9b8cbd0dc38546ef946e1adedc65a6da6"},{"name":"voice","version":"1.0.0","sha256":"18425d95daaa062bfadd33251e22ea402102bf8c31070d82cbd9f0911fe0007e"}],"libraries":{"libavformat":"59.27.100","libavcodec":"59.37.100","libavutil":"57.28.100","soxr":"0.1.3","onnxruntime":"1.30.0"},"kernel":{"architecture":"x64","lanes":16,"exact_int8":true}},"signature":"u/v6+RyIpdpvWm7WVbGZ4pBcWDP05Q9aJFko+aNzwpMSJNuC15DU9Lcx9qNNMrPKknqEIay1+NwQTzmZoZLTBw=="}}', '841a4820c56b54e9eca0182e931a2d757d55c0720c283d3cc261bddbb4d04129', 'PrY/OqW0ljIC13jd9oMDZfb8+w+AblbyosUHCGeR4ITn+tS0O1NGY7wlXA==', 5309);
INSERT INTO public.jobs VALUES ('job_RSN9ybx5RCEtpCM77btY', 'account:MAabpMF6l0MrLRToEhzkDQoCPnrBFVGA', 'MAabpMF6l0MrLRToEhzkDQoCPnrBFVGA', 'second', 1796056847720, 1796164847720, NULL, NULL, NULL, '2f2b1906b439f30507282c9cb2930eb31f41aaebcaa1857b20d3640a38c82b58', 'I2uQWHYFSLUpK0SsmOUuhvCB6i9VJplImgA63NZapxESCrM/eZayMrgVgy4=', NULL);


--
-- Data for Name: kysely_migration; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.kysely_migration VALUES ('0001-schema', '2026-11-30T16:40:45.858Z');
INSERT INTO public.kysely_migration VALUES ('0002-job-bytes', '2026-11-30T16:40:45.860Z');
INSERT INTO public.kysely_migration VALUES ('0003-job-body-last', '2026-11-30T16:40:45.861Z');


--
-- Data for Name: kysely_migration_lock; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.kysely_migration_lock VALUES ('migration_lock', 0);


--
-- Data for Name: playground_codes; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: session; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.session VALUES ('p1XW6AmZVrAdime9ZpXJjStxh2O0omW1', '2026-12-07 16:40:46.25+00', 'QKSOXghfVPIOPsPv3b8Pc1KggcFXdDDZ', '2026-11-30 16:40:46.25+00', '2026-11-30 16:40:46.25+00', '', '', 'MAabpMF6l0MrLRToEhzkDQoCPnrBFVGA');


--
-- Data for Name: tokens; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.tokens VALUES ('tok_XhDsFRlH2lGx', 'recorded', 'ut_rUAg', '0db93be49ed57d43746455b25b06d0c0d54b308444d0030544f0e9b62032e3c4', 'analyze:emotion analyze:cognitive', 1796056846286, NULL, NULL, 'MAabpMF6l0MrLRToEhzkDQoCPnrBFVGA', NULL, 1796056800000, 'tests of upgrades');


--
-- Data for Name: usage; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.usage VALUES ('tok_XhDsFRlH2lGx', '2026-11-30', 'MAabpMF6l0MrLRToEhzkDQoCPnrBFVGA', 7, 0, 7400);


--
-- Data for Name: user; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public."user" VALUES ('MAabpMF6l0MrLRToEhzkDQoCPnrBFVGA', '', 'recorded@example.org', false, NULL, '2026-11-30 16:40:46.241+00', '2026-11-30 16:40:46.241+00');


--
-- Data for Name: verification; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Name: account account_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.account
    ADD CONSTRAINT account_pkey PRIMARY KEY (id);


--
-- Name: administrators administrators_first_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.administrators
    ADD CONSTRAINT administrators_first_key UNIQUE (first);


--
-- Name: administrators administrators_owner_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.administrators
    ADD CONSTRAINT administrators_owner_key UNIQUE (owner);


--
-- Name: installation installation_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.installation
    ADD CONSTRAINT installation_pkey PRIMARY KEY (id);


--
-- Name: jobs jobs_idempotency_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_idempotency_key UNIQUE (holder, idempotency_key);


--
-- Name: jobs jobs_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_pkey PRIMARY KEY (id);


--
-- Name: kysely_migration_lock kysely_migration_lock_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.kysely_migration_lock
    ADD CONSTRAINT kysely_migration_lock_pkey PRIMARY KEY (id);


--
-- Name: kysely_migration kysely_migration_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.kysely_migration
    ADD CONSTRAINT kysely_migration_pkey PRIMARY KEY (name);


--
-- Name: playground_codes playground_codes_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.playground_codes
    ADD CONSTRAINT playground_codes_pkey PRIMARY KEY (hash);


--
-- Name: session session_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.session
    ADD CONSTRAINT session_pkey PRIMARY KEY (id);


--
-- Name: session session_token_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.session
    ADD CONSTRAINT session_token_key UNIQUE (token);


--
-- Name: tokens tokens_hash_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_hash_key UNIQUE (hash);


--
-- Name: tokens tokens_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_pkey PRIMARY KEY (id);


--
-- Name: usage usage_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.usage
    ADD CONSTRAINT usage_pkey PRIMARY KEY (token, date);


--
-- Name: user user_email_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public."user"
    ADD CONSTRAINT user_email_key UNIQUE (email);


--
-- Name: user user_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public."user"
    ADD CONSTRAINT user_pkey PRIMARY KEY (id);


--
-- Name: verification verification_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.verification
    ADD CONSTRAINT verification_pkey PRIMARY KEY (id);


--
-- Name: account_userId_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "account_userId_idx" ON public.account USING btree ("userId");


--
-- Name: jobs_expires_at_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX jobs_expires_at_idx ON public.jobs USING btree (expires_at);


--
-- Name: jobs_holder_bytes_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX jobs_holder_bytes_idx ON public.jobs USING btree (holder, bytes);


--
-- Name: jobs_holder_created_at_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX jobs_holder_created_at_idx ON public.jobs USING btree (holder, created_at, id);


--
-- Name: jobs_owner_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX jobs_owner_idx ON public.jobs USING btree (owner);


--
-- Name: session_userId_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "session_userId_idx" ON public.session USING btree ("userId");


--
-- Name: tokens_live_name; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX tokens_live_name ON public.tokens USING btree (COALESCE(owner, ''::text), name) WHERE ((revoked_at IS NULL) AND (session IS NULL));


--
-- Name: tokens_owner_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX tokens_owner_idx ON public.tokens USING btree (owner);


--
-- Name: tokens_session_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX tokens_session_idx ON public.tokens USING btree (session);


--
-- Name: usage_date_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX usage_date_idx ON public.usage USING btree (date);


--
-- Name: usage_owner_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX usage_owner_idx ON public.usage USING btree (owner);


--
-- Name: verification_identifier_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX verification_identifier_idx ON public.verification USING btree (identifier);


--
-- Name: account account_userId_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.account
    ADD CONSTRAINT "account_userId_fkey" FOREIGN KEY ("userId") REFERENCES public."user"(id) ON DELETE CASCADE;


--
-- Name: administrators administrators_owner_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.administrators
    ADD CONSTRAINT administrators_owner_fkey FOREIGN KEY (owner) REFERENCES public."user"(id) ON DELETE SET NULL;


--
-- Name: jobs jobs_owner_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_owner_fkey FOREIGN KEY (owner) REFERENCES public."user"(id) ON DELETE CASCADE;


--
-- Name: session session_userId_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.session
    ADD CONSTRAINT "session_userId_fkey" FOREIGN KEY ("userId") REFERENCES public."user"(id) ON DELETE CASCADE;


--
-- Name: tokens tokens_owner_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_owner_fkey FOREIGN KEY (owner) REFERENCES public."user"(id) ON DELETE CASCADE;


--
-- Name: tokens tokens_session_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_session_fkey FOREIGN KEY (session) REFERENCES public.session(id) ON DELETE CASCADE;


--
-- Name: usage usage_owner_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.usage
    ADD CONSTRAINT usage_owner_fkey FOREIGN KEY (owner) REFERENCES public."user"(id) ON DELETE CASCADE;


--
-- PostgreSQL database dump complete
--


